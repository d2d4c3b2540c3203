// Entry point of the page at `/`: starts the watchers, and renders the app.
import { render } from 'preact';
import { App } from './app.tsx';
import { watchActions } from './drawn-days.ts';
import { watchDrafts } from './edit-row.tsx';
import { flushDrafts } from './kept-drafts.ts';
import { watchImport } from './kept-import.ts';
import { startLedger } from './ledger.ts';
import { watchScheme } from './scheme.ts';
import { watchScreen } from './screen.ts';
import { watchScope } from './selection.ts';

watchScheme();
watchScreen();
watchActions();
addEventListener('pagehide', flushDrafts);
document.addEventListener('visibilitychange', flushDrafts);
startLedger();
watchScope();
watchDrafts();
watchImport();
const root = document.getElementById('app');
if (root) render(<App />, root);
