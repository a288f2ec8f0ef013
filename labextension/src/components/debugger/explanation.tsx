/** Why the chosen memory has its rank, or why it is not in the answer. */

import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import type { DebuggerModel } from '../../models/debuggerModel';
import { Contributions } from './contributions';
import { withMarks } from '../shared/withMarks';

interface IExplanationProps {
  model: DebuggerModel;
  trans: TranslationBundle;
}

export function Explanation({ model, trans }: IExplanationProps): React.JSX.Element {
  const section = React.useRef<HTMLElement>(null);
  React.useEffect(() => reveal(section.current), [model.chosen]);
  return (
    <section className="jp-Memory-explained" aria-label={trans.__('Why this rank')} ref={section}>
      {model.chosen ? (
        <Chosen model={model} trans={trans} />
      ) : (
        <p className="jp-Memory-dim">{trans.__('Pick a memory above, or a result, to see why it has its rank.')}</p>
      )}
      <AskById model={model} trans={trans} />
    </section>
  );
}

/** Scroll to the explanation if it was requested in the results. A click within the debugger must not scroll. */
function reveal(section: HTMLElement | null): void {
  const frame = section?.closest<HTMLElement>('.jp-Memory-debugger');
  if (!section || !frame || frame.contains(document.activeElement)) {
    return;
  }
  const [inner, outer] = [section.getBoundingClientRect(), frame.getBoundingClientRect()];
  if (inner.top < outer.top || inner.bottom > outer.bottom) {
    frame.scrollTop += inner.top - outer.top;
  }
}

function Chosen({ model, trans }: IExplanationProps): React.JSX.Element {
  const { scoredHit, explanation, answer, chosen } = model;
  const isHit = answer?.hits.some(hit => hit.memory_id === chosen) ?? false;
  return (
    <>
      {scoredHit && answer && (
        <div className="jp-Memory-scroll" role="group" aria-label={trans.__('Contributions')} tabIndex={0}>
          <Contributions scored={scoredHit} terms={answer.terms} trans={trans} />
        </div>
      )}
      {isHit ? (
        <details onToggle={event => event.currentTarget.open && !explanation && void model.explain()}>
          <summary>{trans.__('In words')}</summary>
          <Reasons model={model} trans={trans} />
        </details>
      ) : (
        <>
          {!scoredHit && <h4>{trans.__('Why not: %1', withMarks(model.titleOf(chosen!)))}</h4>}
          <Reasons model={model} trans={trans} />
        </>
      )}
    </>
  );
}

/** The server's main reasons, in sentences, and all of them for those who ask. */
function Reasons({ model, trans }: IExplanationProps): React.JSX.Element {
  return (
    <div role="status">
      {model.isExplaining && <p className="jp-Memory-dim">{trans.__('Asking…')}</p>}
      {model.explanation && <Sentences reasons={model.explanation.reasons} />}
      {model.explanation && model.explanation.details.length > model.explanation.reasons.length && (
        <details className="jp-Memory-details">
          <summary>{trans.__('All reasons')}</summary>
          <Sentences reasons={model.explanation.details} />
        </details>
      )}
    </div>
  );
}

function Sentences({ reasons }: { reasons: readonly string[] }): React.JSX.Element {
  return (
    <ul className="jp-Memory-reasons">
      {reasons.map(reason => (
        <li key={reason}>{withMarks(reason)}</li>
      ))}
    </ul>
  );
}

/** A field for the id of a memory that is missing from the answer. */
function AskById({ model, trans }: IExplanationProps): React.JSX.Element {
  const [id, setId] = React.useState('');
  const ask = (event: React.FormEvent): void => {
    event.preventDefault();
    if (id.trim()) {
      model.choose(id.trim());
    }
  };
  return (
    <form className="jp-Memory-form" onSubmit={ask}>
      <label>
        {trans.__('Why is another memory missing? Its id:')}
        <input
          className="jp-mod-styled"
          value={id}
          onChange={event => setId(event.target.value)}
          placeholder={trans.__('such as 6842380cc55f110b')}
          spellCheck={false}
          autoComplete="off"
        />
      </label>
      <button className="jp-Memory-button" type="submit" disabled={!id.trim() || !model.answer}>
        {trans.__('Explain')}
      </button>
    </form>
  );
}
