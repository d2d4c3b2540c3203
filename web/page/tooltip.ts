// One tooltip, the same for the mouse and for the keyboard. Screen readers have the label of what it is about.
import { byId, fill, h } from './dom.ts';

const GAP = 8;

export function explain(target: Element, title: string, rows: readonly (readonly string[])[]) {
  const show = () => {
    const tooltip = byId('tooltip');
    const lines = rows.map(([name = '', value = '']) =>
      h('tr', {}, h('th', {}, name), h('td', {}, value)),
    );
    fill(tooltip, h('strong', {}, title), h('table', {}, ...lines));
    tooltip.hidden = false;
    const { left, width, top } = target.getBoundingClientRect();
    const most = document.documentElement.clientWidth - tooltip.offsetWidth - GAP;
    const start = left + width / 2 - tooltip.offsetWidth / 2;
    tooltip.style.left = `${Math.max(GAP, Math.min(start, most))}px`;
    tooltip.style.top = `${Math.max(GAP, top - tooltip.offsetHeight - GAP)}px`;
  };
  target.addEventListener('pointerenter', show);
  target.addEventListener('focus', show);
  target.addEventListener('pointerleave', hideTooltip);
  target.addEventListener('blur', hideTooltip);
}

export function hideTooltip(): void {
  byId('tooltip').hidden = true;
}
