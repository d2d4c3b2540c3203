// Handles the submission of a form whose request takes a while.
import { useRef } from 'preact/hooks';

/**
 * @param save sends what was typed in the form
 * @returns the form's `onSubmit`, which ignores Enter and clicks while a submission is under way
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
