/** Numbers, sizes and dates in the browser's language. */

/** How many decimals the rows of a column need, so that its largest value shows three digits. */
export function decimals(values: readonly (number | null)[]): number {
  const largest = Math.max(0, ...values.map(value => Math.abs(value ?? 0)));
  if (!largest || largest >= 100) {
    return largest ? 1 : 0;
  }
  return Math.min(6, Math.max(2, 2 - Math.floor(Math.log10(largest)), largest < 3 ? 3 : 2));
}

export function figure(value: number, digits: number): string {
  return formatter(`f${digits}`, { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value);
}

/** A number with this many decimals if few are enough, else as a power of ten: BM25 can be 0.000003. */
export function compact(value: number, digits: number): string {
  return value && digits > 4 ? tiny(value) : figure(value, digits);
}

/** A number with its sign and this many decimals; a value that rounds to zero has no sign. */
export function signed(value: number, digits: number): string {
  const shown = figure(Math.abs(value), digits);
  const isNothing = Math.abs(value) < 0.5 * 10 ** -digits;
  return isNothing ? shown : `${value < 0 ? '−' : '+'}${shown}`;
}

/** A raw value of any scale: integers as they are, others with about three digits. */
export function rough(value: number): string {
  if (Number.isInteger(value)) {
    return count(value);
  }
  const size = Math.abs(value);
  if (size < 0.001) {
    return tiny(value);
  }
  return figure(value, size < 1 ? 3 : size < 10 ? 2 : 1);
}

function tiny(value: number): string {
  return formatter('tiny', { notation: 'scientific', maximumFractionDigits: 1 }).format(value);
}

export function count(value: number): string {
  return formatter('count', { maximumFractionDigits: 0 }).format(value);
}

export function percent(value: number): string {
  return formatter('percent', { style: 'percent', maximumFractionDigits: 0 }).format(value);
}

/** Milliseconds: one decimal below ten, none above. */
export function milliseconds(value: number): string {
  return figure(value, value < 10 ? 1 : 0);
}

export function bytes(value: number): string {
  const step = value < 1e6 ? 1 : value < 1e9 ? 2 : 3;
  const scaled = value / 1000 ** step;
  return `${figure(scaled, scaled < 10 ? 1 : 0)} ${['kB', 'MB', 'GB'][step - 1]}`;
}

/** A period that ends before `until`, in days of the server: `1 – 31 Oct 2026`. */
export function period(since: string | null, until: string | null): string {
  const first = since === null ? null : wall(since);
  const last = until === null ? null : new Date(wall(until).getTime() - 1);
  const days = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });
  if (first && last) {
    return last < first ? days.format(first) : days.formatRange(first, last);
  }
  return first ? `${days.format(first)} –` : last ? `– ${days.format(last)}` : '';
}

/** A day, without its year if that is this year: `14 Oct`. */
export function day(iso: string | null, now = new Date()): string {
  const year = new Date(iso ?? '').getFullYear() === now.getFullYear() ? undefined : 'numeric';
  return formatted(iso, { day: 'numeric', month: 'short', year });
}

export function moment(iso: string | null, dateStyle: 'full' | 'medium' = 'full'): string {
  return formatted(iso, { dateStyle, timeStyle: 'short' });
}

function formatted(iso: string | null, options: Intl.DateTimeFormatOptions): string {
  const date = new Date(iso ?? '');
  return Number.isNaN(date.getTime()) ? '' : new Intl.DateTimeFormat(undefined, options).format(date);
}

/** The ISO day this many days before `now`, in the local time zone. */
export function daysAgo(days: number, now = new Date()): string {
  const date = new Date(now.getFullYear(), now.getMonth(), now.getDate() - days);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

function wall(moment: string): Date {
  const [day, time = '00:00:00'] = moment.replace(/(Z|[+-]\d\d:?\d\d)$/, '').split('T');
  return new Date(`${day}T${time}Z`);
}

const formatters = new Map<string, Intl.NumberFormat>();

function formatter(name: string, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const known = formatters.get(name) ?? new Intl.NumberFormat(undefined, options);
  formatters.set(name, known);
  return known;
}
