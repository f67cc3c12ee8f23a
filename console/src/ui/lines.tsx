import { Bdi, Hidden } from './values.tsx'
import styles from './lines.module.css'

export interface Line {
  number: number
  text: string
  /** hit: what this is about. gap: lines that are the same lie between. */
  kind?: 'added' | 'removed' | 'hit' | 'gap' | 'same'
}

/** Lines of a file with their numbers; the box scrolls sideways by itself. */
export const Lines = ({ label, lines }: { label: string; lines: readonly Line[] }) => (
  <pre className={styles.lines} tabIndex={0} role="region" aria-label={label}>
    {lines.map(({ number, text, kind = 'same' }, index) => (
      <span key={index} className={styles[kind]}>
        <span aria-hidden>{kind === 'gap' ? '…' : number}</span>
        {(kind === 'added' || kind === 'removed') && <Hidden>{kind}: </Hidden>}
        <Bdi>{text || ' '}</Bdi>
      </span>
    ))}
  </pre>
)
