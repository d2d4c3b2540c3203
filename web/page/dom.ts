// Elements of the page. Text is only ever put in as text, so that a description cannot become markup.

type Child = Node | string | undefined;
type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

const SVG = 'http://www.w3.org/2000/svg';

export function h<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  return complete(document.createElement(name), attributes, children);
}

export function svg<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[Name] {
  return complete(document.createElementNS(SVG, name), attributes, children);
}

function complete<Made extends Element>(
  element: Made,
  attributes: Attributes,
  children: readonly Child[],
): Made {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child) => child !== undefined));
  return element;
}

/** An element of page.html. */
export function byId<Kind extends HTMLElement = HTMLElement>(id: string): Kind {
  return document.getElementById(id) as Kind;
}

/** New content; what has the focus keeps it where the new content has an element of the same `data-focus`. */
export function fill(container: Element, ...children: readonly Child[]): void {
  const { activeElement } = document;
  const focused = container.contains(activeElement) && activeElement?.getAttribute('data-focus');
  container.replaceChildren(...children.filter((child) => child !== undefined));
  if (focused) {
    container.querySelector<HTMLElement>(`[data-focus="${CSS.escape(focused)}"]`)?.focus();
  }
}

/** A link to another state of the page. */
export function stateLink(hash: string, text: string, attributes: Attributes = {}) {
  return h('a', { href: hash, 'data-focus': text, ...attributes }, text);
}
