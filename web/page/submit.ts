// Handles the submission of a form whose request takes a while.
import { useRef } from 'preact/hooks';

/**
 * @param save sends what the form holds
 * @returns the form's `onSubmit`. While a submission is under way, Enter or a click submits nothing more: it would be sent twice.
 */
export function useSubmit(save: () => Promise<void>): (event: Event) => Promise<void> {
  const isUnderWay = useRef(false);
  return async (event) => {
    event.preventDefault();
    if (isUnderWay.current) return;
    isUnderWay.current = true;
    try {
      await save();
    } finally {
      isUnderWay.current = false;
    }
  };
}
