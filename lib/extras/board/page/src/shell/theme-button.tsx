import { theme, THEMES } from '../live/theme.js';
import { Icon } from '../parts/icons.js';

const ICONS = { auto: 'auto', light: 'sun', dark: 'moon' } as const;

export function ThemeButton() {
  const next = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length]!;
  const label = `Theme: ${theme.value}`;
  return (
    <button type="button" class="icon-button" title={label} aria-label={label} onClick={() => (theme.value = next)}>
      <Icon name={ICONS[theme.value]} />
    </button>
  );
}
