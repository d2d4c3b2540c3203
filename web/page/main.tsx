// The script of the page at `/`.
import { render } from 'preact';
import { App } from './app.tsx';
import { start } from './ledger.ts';
import { watchScheme } from './scheme.ts';
import { watchScope } from './selection.ts';

watchScheme();
start();
watchScope();
const root = document.getElementById('app');
if (root) render(<App />, root);
