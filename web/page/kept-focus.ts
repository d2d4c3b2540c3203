// Moves the focus nearby when the focused element is removed. Otherwise the browser would move the focus to the page, and the
// next Tab would start at the top.
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

interface Reference {
  readonly current: HTMLElement | null;
}

/**
 * When a list item with the focus is removed, gives the focus to the item that took its place; without items, to the list.
 * @param itemSelector selects the items of the list
 * @param choose returns the part of an item that corresponds to the lost element; null if the item has no such part
 */
export function useKeepFocusInList(
  list: Reference,
  itemSelector: string,
  choose: (item: HTMLElement, lost: Element) => HTMLElement | null,
): void {
  const lastFocus = useRef<{ readonly element: Element; readonly index: number }>(undefined);
  const findItems = () => [...(list.current?.querySelectorAll<HTMLElement>(itemSelector) ?? [])];
  useEffect(() => {
    const rememberFocus = ({ target }: FocusEvent) => {
      const element = target instanceof Element ? target : document.body;
      const item = element.closest<HTMLElement>(itemSelector);
      const index = item ? findItems().indexOf(item) : -1;
      lastFocus.current = index < 0 ? undefined : { element, index };
    };
    addEventListener('focusin', rememberFocus);
    return () => removeEventListener('focusin', rememberFocus);
  }, []);
  useLayoutEffect(() => {
    const { element, index = 0 } = lastFocus.current ?? {};
    if (!element || element.isConnected || document.activeElement !== document.body) return;
    const allItems = findItems();
    const nearestItems = [...allItems.slice(index), ...allItems.slice(0, index).reverse()].filter(
      (item) => item.checkVisibility(),
    );
    const [chosenElement] = nearestItems.flatMap((item) => choose(item, element) ?? []);
    const firstControl = list.current?.querySelector<HTMLElement>('input, button, summary');
    (chosenElement ?? nearestItems[0] ?? firstControl ?? list.current)?.focus({
      preventScroll: true,
    });
  });
}

/**
 * Remembers which element had the focus before the box.
 * @returns a function that moves the focus from the box back to that element, or to the page if the element is missing
 */
export function useReturnFocus(box: Reference): () => void {
  const previousFocus = useRef<EventTarget | null>(null);
  useLayoutEffect(() => {
    const { current } = box;
    current?.addEventListener('focusin', ({ relatedTarget }) => {
      if (!current.contains(relatedTarget as Node | null)) previousFocus.current = relatedTarget;
    });
  }, []);
  return () => {
    if (previousFocus.current instanceof HTMLElement && previousFocus.current.isConnected)
      previousFocus.current.focus();
    else if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
  };
}

/** When a box with the focus is removed, returns the focus to the element that had it before the box. */
export function useReturnFocusOnRemoval(box: Reference): void {
  const returnFocus = useReturnFocus(box);
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
export function useFocusListOnRemoval(box: Reference): void {
  useLayoutEffect(() => {
    const { current } = box;
    return () => {
      if (current?.contains(document.activeElement))
        focusWhenDrawn('.entry[tabindex="0"], .nothing a');
    };
  }, []);
}

/** Focuses an element in the next frame, unless another element has the focus. */
export function focusWhenDrawn(selector: string): void {
  requestAnimationFrame(() => {
    if (document.activeElement === document.body)
      document.querySelector<HTMLElement>(selector)?.focus();
  });
}
