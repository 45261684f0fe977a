import { effect, signal } from '@preact/signals';

export const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const KEY = 'sql-queue-board-theme';
const DARK = matchMedia('(prefers-color-scheme: dark)');

/** The theme that the viewer has chosen. */
export const theme = signal<Theme>(stored());

/** Charts on a canvas take the colours of the theme when they are drawn. */
export const isSystemDark = signal(DARK.matches);

DARK.addEventListener('change', ({ matches }) => (isSystemDark.value = matches));

export function keepTheme(): void {
  effect(() => {
    document.documentElement.dataset['theme'] = theme.value;
    try {
      localStorage.setItem(KEY, theme.value);
    } catch {
      // A browser without storage forgets the choice.
    }
  });
}

function stored(): Theme {
  try {
    return THEMES.find((one) => one === localStorage.getItem(KEY)) ?? 'auto';
  } catch {
    return 'auto';
  }
}
