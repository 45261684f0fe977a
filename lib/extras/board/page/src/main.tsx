import { render } from 'preact';
import { startClock } from './live/clock.js';
import { startLive } from './live/live.js';
import { keepTheme } from './live/theme.js';
import { showDirectionControls } from './safe-text.js';
import { App } from './shell/app.js';

showDirectionControls();
keepTheme();
startClock();
startLive();
render(<App />, document.getElementById('app')!);
