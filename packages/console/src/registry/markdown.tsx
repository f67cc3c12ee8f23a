import { drawMarkdown } from './draw-markdown.ts'
import styles from './overview.module.css'

/** Markdown of a stranger; a part of its own, because the parser is large. */
export const Markdown = ({ text }: { text: string }) => (
  <div className={styles.markdown} dir="auto">
    {drawMarkdown(text)}
  </div>
)
