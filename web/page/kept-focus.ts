// Moves the focus nearby when the focused element is removed. Otherwise the browser would move the focus to the page, and the
// next Tab would start at the top.
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

interface Reference {
  readonly current: HTMLElement | null;
}

/**
 * When a list item with the focus is removed, gives the focus to the item that took its place; without items, to the list.
 * @param items selects the items of the list
 * @param choose returns the part of an item that corresponds to the lost element; null if the item has no such part
 */
export function useFocusInList(
  list: Reference,
  items: string,
  choose: (item: HTMLElement, lost: Element) => HTMLElement | null,
): void {
  const last = useRef<{ readonly element: Element; readonly index: number }>(undefined);
  const findItems = () => [...(list.current?.querySelectorAll<HTMLElement>(items) ?? [])];
  useEffect(() => {
    const remember = ({ target }: FocusEvent) => {
      const element = target instanceof Element ? target : document.body;
      const item = element.closest<HTMLElement>(items);
      const index = item ? findItems().indexOf(item) : -1;
      last.current = index < 0 ? undefined : { element, index };
    };
    addEventListener('focusin', remember);
    return () => removeEventListener('focusin', remember);
  }, []);
  useLayoutEffect(() => {
    const { element, index = 0 } = last.current ?? {};
    if (!element || element.isConnected || document.activeElement !== document.body) return;
    const all = findItems();
    const nearest = [...all.slice(index), ...all.slice(0, index).reverse()].filter((item) =>
      item.checkVisibility(),
    );
    const [chosen] = nearest.flatMap((item) => choose(item, element) ?? []);
    const first = list.current?.querySelector<HTMLElement>('input, button, summary');
    (chosen ?? nearest[0] ?? first ?? list.current)?.focus({ preventScroll: true });
  });
}

/**
 * Remembers which element had the focus before the box.
 * @returns moves the focus from the box back to that element, or to the page if there is none any more
 */
export function useFocusBefore(box: Reference): () => void {
  const before = useRef<EventTarget | null>(null);
  useLayoutEffect(() => {
    const { current } = box;
    current?.addEventListener('focusin', ({ relatedTarget }) => {
      if (!current.contains(relatedTarget as Node | null)) before.current = relatedTarget;
    });
  }, []);
  return () => {
    if (before.current instanceof HTMLElement && before.current.isConnected) before.current.focus();
    else if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
  };
}

/** When a box with the focus is removed, returns the focus to the element that had it before the box. */
export function useReturnedFocus(box: Reference): void {
  const returnFocus = useFocusBefore(box);
  useLayoutEffect(() => {
    const { current } = box;
    return () => {
      if (current?.contains(document.activeElement)) returnFocus();
    };
  }, []);
}

/**
 * When a box with the focus is removed, focuses the row at which the Tab key stops, as soon as the list is drawn; without rows,
 * what the page offers instead of them.
 */
export function useFocusOnList(box: Reference): void {
  useLayoutEffect(() => {
    const { current } = box;
    return () => {
      if (current?.contains(document.activeElement))
        focusWhenDrawn('.entry[tabindex="0"], .nothing a');
    };
  }, []);
}

/** Focuses an element in the next frame, unless another has the focus by then. */
export function focusWhenDrawn(selector: string): void {
  requestAnimationFrame(() => {
    if (document.activeElement === document.body)
      document.querySelector<HTMLElement>(selector)?.focus();
  });
}
