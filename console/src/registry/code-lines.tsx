import { showControls } from '../words/text.ts'
import styles from './code-lines.module.css'

/** Lines of a file with their numbers; only the box is wider than the page. However many there are, they are three elements. */
export const CodeLines = ({
  text,
  marked,
  label,
}: {
  text: string
  /** Number of the line that it is about. */
  marked?: number | undefined
  label: string
}) => {
  const lines = text.split(/\r\n|[\n\r]/)
  const numbers = lines.map((_, index) => index + 1).join('\n')
  return (
    // A box that scrolls must be reached by the keyboard.
    <div className={styles.lines} tabIndex={0} role="region" aria-label={label}>
      {marked !== undefined && (
        <div className={styles.marked} style={{ top: 8 + (marked - 1) * 16 }} aria-hidden />
      )}
      <pre className={styles.numbers} aria-hidden>
        {numbers}
      </pre>
      <pre className={styles.text}>
        <bdi>
          <code>{lines.map(showControls).join('\n')}</code>
        </bdi>
      </pre>
    </div>
  )
}
