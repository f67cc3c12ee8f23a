import { CircleHelp, OctagonX, TriangleAlert, type LucideIcon } from 'lucide-react'

import type { Tone } from '../words/states.ts'
import { t } from '../words/translate.ts'
import { MARKS, type Mark } from './marks.ts'

interface MarkWords {
  word: string
  tone: Tone
  /** In the drawing. */
  sign: string
  Icon: LucideIcon
}

export const MARK_WORDS: Record<Mark, MarkWords> = {
  breaks: { word: t('breaks'), tone: 'bad', sign: '×', Icon: OctagonX },
  may_break: { word: t('may break'), tone: 'warn', sign: '!', Icon: TriangleAlert },
  unknown: { word: t('unknown'), tone: 'info', sign: '?', Icon: CircleHelp },
}

export const MarkIcon = ({ mark }: { mark: Mark | undefined }) => {
  if (!mark) return null
  const { word, tone, Icon } = MARK_WORDS[mark]
  return (
    <span className={tone}>
      <Icon aria-label={word} role="img" />
    </span>
  )
}

/** The signs of the drawing in words. */
export const Legend = () => (
  <p className="row soft small">
    {MARKS.map((mark) => (
      <span key={mark} className={`row ${MARK_WORDS[mark].tone}`}>
        <b aria-hidden>{MARK_WORDS[mark].sign}</b> {MARK_WORDS[mark].word}
      </span>
    ))}
    <span className="screen">
      {t('Drag to move, turn the wheel to zoom, press a node to open it.')}
    </span>
  </p>
)
