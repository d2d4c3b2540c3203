// Shows the messages of the page: a notice with its action, and announcements for screen readers.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Button, NoticeBox } from './components.tsx';
import { announcement, type Notice, notice } from './ledger.ts';

const BRIEF_MS = 10_000;

export function Messages() {
  const currentNotice = notice.value;
  return (
    <>
      <div role="alert" class={currentNotice?.isBrief ? 'brief' : ''}>
        {currentNotice && <ShownNotice currentNotice={currentNotice} />}
      </div>
      <p class="unseen" role="status">
        {announcement.value}
      </p>
    </>
  );
}

function ShownNotice({ currentNotice }: { readonly currentNotice: Notice }) {
  const listeners = useAutoDismiss(currentNotice);
  return (
    <div {...listeners}>
      <NoticeBox text={currentNotice.text} details={currentNotice.details}>
        {currentNotice.action && (
          <Button kind="primary" onClick={currentNotice.action.run}>
            {currentNotice.action.name}
          </Button>
        )}
        <Button onClick={dismiss}>Dismiss</Button>
      </NoticeBox>
    </div>
  );
}

function dismiss(): void {
  notice.value = undefined;
}

/** Dismisses a brief notice after a while, but not while it has the pointer or the focus. */
function useAutoDismiss({ isBrief = false, text }: Notice) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const stop = () => clearTimeout(timer.current);
  const start = () => {
    stop();
    if (isBrief) timer.current = setTimeout(dismiss, BRIEF_MS);
  };
  useLayoutEffect(() => {
    start();
    return stop;
  }, [text, isBrief]);
  return { onPointerEnter: stop, onPointerLeave: start, onFocusIn: stop, onFocusOut: start };
}
