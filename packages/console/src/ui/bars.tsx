import type { Bar } from './bar.ts'
import styles from './bars.module.css'
import { Hidden } from './values.tsx'

/** Per cent of the height that the highest bar takes: above it is room for its value. */
const TALLEST = 82

/** Labels that have room below a chart. */
const MAX_LABELS = 6

/** Values over time, each above its bar; by readers they are read as a list. */
export const Bars = ({ label, bars }: { label: string; bars: readonly Bar[] }) => {
  const max = Math.max(...bars.map(({ value }) => value), Number.MIN_VALUE)
  const step = Math.ceil(bars.length / MAX_LABELS)
  return (
    <ol aria-label={label} className={`${styles.bars} ${bars.length > 15 ? styles.many : ''}`}>
      {bars.map(({ label: at, value, text }, index) => (
        <li key={index} title={`${at}: ${text}`}>
          <span className={index % step === 0 ? styles.label : 'hidden-text'}>{at}</span>
          <Hidden>: </Hidden>
          <span className={value === 0 ? 'hidden-text' : styles.value}>{text}</span>
          <span
            className={styles.bar}
            style={{ height: `${(TALLEST * value) / max}%` }}
            aria-hidden
          />
        </li>
      ))}
    </ol>
  )
}
