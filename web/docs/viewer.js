// Roles and names for screen readers where the viewer has none, or uses one twice; null removes the attribute.
const ATTRIBUTES = [
  ['textarea.body-param__text', { 'aria-label': 'Request body' }],
  ['.parameters-col_description select', { 'aria-label': 'Value of the parameter' }],
  ['.information-container', { role: 'region', 'aria-label': 'About the API' }],
  ['.scheme-container', { role: 'region', 'aria-label': 'Authentication' }],
  ['.responses-table', { role: null }],
  // Lets keyboard users scroll it.
  ['pre.microlight', { tabindex: '0' }],
  ['.modal-ux', { role: 'dialog', 'aria-modal': 'true', 'aria-label': 'Authentication' }],
  ['.close-modal', { 'aria-label': 'Close' }],
  ['.modal-ux button[type=submit]', { 'aria-label': null }],
  ['.modal-ux .modal-btn.auth', { 'aria-label': null }],
  // "Authorized" confirms an action; it is not the heading of a section.
  ['.modal-ux h6', { role: 'presentation' }],
];

function addAttributes() {
  for (const [selector, attributes] of ATTRIBUTES) {
    for (const element of document.querySelectorAll(selector)) {
      for (const [name, value] of Object.entries(attributes)) {
        if (value === null) element.removeAttribute(name);
        else element.setAttribute(name, value);
      }
    }
  }
}

new MutationObserver(addAttributes).observe(document.body, { childList: true, subtree: true });

// The viewer has a dark scheme under this class.
const isDark = matchMedia('(prefers-color-scheme: dark)');
const followScheme = () => document.documentElement.classList.toggle('dark-mode', isDark.matches);
isDark.addEventListener('change', followScheme);
followScheme();

const viewer = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#viewer',
  // There is only one server. A heading takes the place of the list, because heading levels must not skip one.
  plugins: [
    ({ React }) => ({
      wrapComponents: {
        ServersContainer: () => () => React.createElement('h2', null, 'Routes'),
      },
    }),
  ],
  tryItOutEnabled: true,
  syntaxHighlight: { activated: false },
  defaultModelsExpandDepth: -1,
  validatorUrl: null,
  // Uses the key that the user gave the page at `/`, in this tab or on this device.
  onComplete() {
    const key = sessionStorage.getItem('api-key') ?? localStorage.getItem('api-key');
    if (key) viewer.preauthorizeApiKey('bearer', key);
  },
});
