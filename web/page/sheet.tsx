// A modal dialog. The page behind an open sheet is inert, so the sheet shows the page's messages.
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { Button } from './components.tsx';
import { Messages } from './messages.tsx';

export const isSheetOpen = signal(false);

/** The element that had the focus before the sheet, or before the first of several sheets that replaced each other. */
let opener: Element | null = null;

interface SheetProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/**
 * Escape closes the sheet, and so does a change of the scope, which is shown behind it. The focus returns to the element that
 * had it before.
 */
export function Sheet({ title, onClose, children }: SheetProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    if (document.activeElement !== document.body) opener = document.activeElement;
    dialog.current?.showModal();
    isSheetOpen.value = true;
    addEventListener('hashchange', onClose);
    return () => {
      removeEventListener('hashchange', onClose);
      isSheetOpen.value = false;
      if (opener instanceof HTMLElement) opener.focus();
      // The opener is inert while another sheet replaces this one, and so stays the opener of the next sheet.
      if (document.activeElement === opener) opener = null;
    };
  }, []);
  return (
    <dialog ref={dialog} class="sheet" aria-labelledby={id} onClose={onClose}>
      <div class="sheet-title">
        <h2 id={id}>{title}</h2>
        <Button kind="quiet" onClick={() => dialog.current?.close()}>
          Close
        </Button>
      </div>
      <Messages />
      {children}
    </dialog>
  );
}
