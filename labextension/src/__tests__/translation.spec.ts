/** Every word that the panel shows passes through the translation, as a literal that tools can collect. */

import { readdirSync, readFileSync } from 'fs';
import { join } from 'path';
import * as ts from 'typescript';

const SOURCES = join(__dirname, '..');

/** Attributes that people read or hear. */
const READ = /^(title|placeholder|alt|label|caption|aria-(label|description|valuetext|roledescription|placeholder))$/;

/** What is the same in every language: what is typed, names of the two retrievers, a default that is typed over. */
const SAME = new Set(['KW', 'SEM']);

const trees = readdirSync(SOURCES, { encoding: 'utf-8', recursive: true })
  .filter(name => /\.tsx?$/.test(name) && !name.startsWith('__tests__'))
  .map(name => ts.createSourceFile(name, readFileSync(join(SOURCES, name), 'utf-8'), ts.ScriptTarget.Latest, true));

function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, child => walk(child, visit));
}

/** All nodes of all sources that something is said of, as `file:line what`. */
function found(look: (node: ts.Node) => string | null): string[] {
  const lines: string[] = [];
  for (const tree of trees) {
    walk(tree, node => {
      const what = look(node);
      if (what !== null) {
        const { line } = tree.getLineAndCharacterOfPosition(node.getStart());
        lines.push(`${tree.fileName}:${line + 1} ${what}`);
      }
    });
  }
  return lines;
}

const hasWords = (text: string): boolean => /\p{L}{2}/u.test(text) && !SAME.has(text.trim());

/** The method of a translation that is called, or null. */
function method(node: ts.Node): '__' | '_n' | null {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) {
    return null;
  }
  const { name } = node.expression;
  return name.text === '__' || name.text === '_n' ? name.text : null;
}

describe('the sources', () => {
  it('are read at all', () => {
    expect(trees.length).toBeGreaterThan(40);
    expect(found(node => method(node)).length).toBeGreaterThan(250);
  });

  it('have no words between tags', () => {
    expect(found(node => (ts.isJsxText(node) && hasWords(node.text) ? node.text.trim() : null))).toEqual([]);
    const inBraces = (node: ts.Node): string | null =>
      ts.isJsxExpression(node) &&
      node.expression &&
      ts.isStringLiteralLike(node.expression) &&
      ts.isJsxElement(node.parent)
        ? node.expression.text
        : null;
    expect(found(inBraces).filter(line => hasWords(line.split(' ').slice(1).join(' ')))).toEqual([]);
  });

  it('have no words in attributes that are read', () => {
    const look = (node: ts.Node): string | null => {
      if (!ts.isJsxAttribute(node) || !READ.test(node.name.getText()) || !node.initializer) {
        return null;
      }
      let told: string | null = null;
      walk(node.initializer, inner => {
        const isTranslated = ts.isCallExpression(inner.parent) && method(inner.parent) !== null;
        const isShown = !isTranslated && !ts.isBinaryExpression(inner.parent);
        if (isShown && (ts.isStringLiteralLike(inner) || ts.isTemplateHead(inner)) && hasWords(inner.text)) {
          told = inner.text;
        }
      });
      return told;
    };
    expect(found(look)).toEqual([]);
  });

  it('have no words in what commands, titles and notifications say', () => {
    const look = (node: ts.Node): string | null => {
      const isSaid =
        (ts.isPropertyAssignment(node) && /^(label|caption|title|message)$/.test(node.name.getText())) ||
        (ts.isBinaryExpression(node) && /\.(label|caption)$/.test(node.left.getText()));
      const value = isSaid ? (ts.isPropertyAssignment(node) ? node.initializer : node.right) : null;
      return value && ts.isStringLiteralLike(value) && hasWords(value.text) ? value.text : null;
    };
    expect(found(look)).toEqual([]);
    const notified = (node: ts.Node): string | null =>
      ts.isCallExpression(node) &&
      node.expression.getText().startsWith('Notification.') &&
      node.arguments[0] &&
      ts.isStringLiteralLike(node.arguments[0])
        ? node.arguments[0].text
        : null;
    expect(found(notified)).toEqual([]);
  });

  it('give the translation whole sentences: literals, with %1 for what is put in', () => {
    const look = (node: ts.Node): string | null => {
      const called = method(node);
      if (called === null) {
        return null;
      }
      const texts = (node as ts.CallExpression).arguments.slice(0, called === '_n' ? 2 : 1);
      return texts.every(ts.isStringLiteralLike) ? null : node.getText();
    };
    expect(found(look)).toEqual([]);
  });
});
