import { withMarks } from '../../../components/shared/text';

describe('withMarks', () => {
  it('shows what controls a terminal or changes the direction of writing', () => {
    expect(withMarks('λ \x1b[2J\x9b31m costs \u202e5\u2066 \x7f\u200f\u061c\r')).toBe(
      'λ ␛[2J[U+009B]31m costs [U+202E]5[U+2066] ␡[U+200F][U+061C]␍'
    );
  });

  it('leaves every other text as it is', () => {
    const text = 'tabs\tand\nlines, שלום, 👩‍👩‍👧, <b>';
    expect(withMarks(text)).toBe(text);
  });
});
