/** Filters that stand among the words of a question. */

/** As the server reads them; what is in quotes is a phrase, whatever it says. */
const TYPED =
  /"[^"]*"|(?<!\S)(-?(?:tag|kind|tier|path|lang|space|session|after|before|on|since|until):(?:"[^"]*"|[^\s":][^\s"]*))(?!\S)/g;

/** The filters as they were typed, each once. */
export function typed(query: string): string[] {
  return [...new Set([...query.matchAll(TYPED)].flatMap(([, filter]) => filter ?? []))];
}

/** The question without a filter that was typed in it. */
export function withoutTyped(query: string, filter: string): string {
  const left = query.replace(TYPED, (all, one?: string) => (one === filter ? '\0' : all));
  return left
    .split('\0')
    .map(part => part.trim())
    .filter(part => part)
    .join(' ');
}
