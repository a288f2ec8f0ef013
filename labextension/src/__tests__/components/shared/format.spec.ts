import {
  bytes,
  count,
  decimals,
  figure,
  milliseconds,
  percent,
  period,
  rough,
  signed
} from '../../../components/shared/format';

describe('figures', () => {
  it('give a column as many decimals as its largest value needs', () => {
    expect(decimals([9.138, 8.02])).toBe(2);
    expect(decimals([0.712, 0.567])).toBe(3);
    expect(decimals([0.0328])).toBe(4);
    expect(decimals([154.2, null])).toBe(1);
    expect(decimals([])).toBe(0);
    expect(decimals([1e-12])).toBe(6);
  });

  it('show a number with exactly those decimals', () => {
    expect(figure(8, 2)).toBe('8.00');
    expect(figure(0.5672, 3)).toBe('0.567');
  });

  it('sign what adds and what takes away, and not what rounds to nothing', () => {
    expect(signed(0.3221, 3)).toBe('+0.322');
    expect(signed(-0.25, 3)).toBe('−0.250');
    expect(signed(-0.0001, 3)).toBe('0.000');
  });

  it('show raw values of any scale in about three digits', () => {
    expect(rough(70.98207)).toBe('71.0');
    expect(rough(3)).toBe('3');
    expect(rough(0.000042)).toBe('4.2E-5');
    expect(rough(0.5672)).toBe('0.567');
    expect(rough(12408)).toBe('12,408');
  });

  it('show counts, shares, times and sizes', () => {
    expect(count(12408)).toBe('12,408');
    expect(percent(0.987)).toBe('99%');
    expect(milliseconds(4.13)).toBe('4.1');
    expect(milliseconds(241.9)).toBe('242');
    expect(bytes(148_312_000)).toBe('148 MB');
    expect(bytes(8_300_000)).toBe('8.3 MB');
    expect(bytes(512)).toBe('0.5 kB');
  });

  it('tell a period with its last day, as the server’s calendar has it', () => {
    const told = period('2026-10-01T00:00:00+02:00', '2026-11-01T00:00:00+01:00');
    expect(told).toMatch(/^Oct 1\s–\s31, 2026$/);
    expect(period('2026-10-01T00:00:00Z', null)).toBe('Oct 1, 2026 –');
    expect(period(null, '2026-10-08T00:00:00-05:00')).toBe('– Oct 7, 2026');
    expect(period(null, null)).toBe('');
  });
});
