/** Shows what nobody sees in a text: controls of a terminal, and characters that change the direction of writing. */

/** C0 controls except for tabs and line breaks, DEL, C1 controls, and what changes the direction of writing. */
const UNSEEN = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Where Unicode's pictures of the C0 controls begin, such as ␛ for ESC. */
const PICTURES = 0x2400;

/** A text of a memory as a person may see it: the same marks as in a notebook and a terminal. Do not store or insert it. */
export function withMarks(text: string): string {
  return text.replace(UNSEEN, character => {
    const code = character.charCodeAt(0);
    if (code === 0x7f) {
      return '␡';
    }
    return code < 0x20
      ? String.fromCharCode(PICTURES + code)
      : `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`;
  });
}
