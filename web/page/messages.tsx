// Shows the messages of the page: a notice with its action, and announcements for screen readers.
import { Button, NoticeBox } from './components.tsx';
import { announcement, notice } from './ledger.ts';

export function Messages() {
  const shown = notice.value;
  return (
    <>
      <div role="alert">
        {shown && (
          <NoticeBox text={shown.text} details={shown.details}>
            {shown.action && (
              <Button kind="primary" onClick={shown.action.run}>
                {shown.action.name}
              </Button>
            )}
            <Button
              onClick={() => {
                notice.value = undefined;
              }}
            >
              Dismiss
            </Button>
          </NoticeBox>
        )}
      </div>
      <p class="unseen" role="status">
        {announcement.value}
      </p>
    </>
  );
}
