/** The tokens of the colours that series have. */
export type SeriesColor = 'completed' | 'dead' | 'active' | 'scheduled' | 'attention';

export interface Series {
  readonly label: string;
  readonly color: SeriesColor;
  readonly kind: 'bars' | 'line' | 'area';
  readonly dash?: number[];
  /** One for each time. Null: unknown. */
  readonly values: readonly (number | null)[];
}
