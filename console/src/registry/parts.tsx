import { useState } from 'react'

import type { Schema } from '../api/client.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { StrangersLink } from '../ui/link.tsx'
import { Row } from '../ui/page.tsx'
import { Fact } from '../ui/panels.tsx'
import { Bdi } from '../ui/text.tsx'
import styles from './registry.module.css'

const SHORT = 240
const LINES = 4

/** A stranger's text with its line ends; a long one opens at a press. */
export const LongText = ({ text }: { text: string }) => {
  const [isOpen, setIsOpen] = useState(false)
  const isLong = text.length > SHORT || text.split('\n', LINES + 1).length > LINES
  return (
    <div className={styles.long}>
      <p className={isLong && !isOpen ? styles.clamped : ''}>
        <Bdi>{text}</Bdi>
      </p>
      {isLong && (
        <Button look="quiet" aria-expanded={isOpen} onPress={() => setIsOpen(!isOpen)}>
          {isOpen ? 'Show less' : 'Show all'}
        </Button>
      )}
    </div>
  )
}

/** A fact of several words, where there are any. */
export const Words = ({ name, words }: { name: string; words: readonly string[] }) => {
  const given = [...new Set(words.filter((word) => word !== ''))]
  if (given.length === 0) return null
  return (
    <Fact name={name}>
      <Row>
        {given.map((word) => (
          <Badge key={word}>
            <Bdi>{word}</Bdi>
          </Badge>
        ))}
      </Row>
    </Fact>
  )
}

/** Where a version was published from, as its CI job has proved. */
export const Provenance = ({
  provenance: { issuer, repository, commit, ref, run_url: run },
}: {
  provenance: Schema<'Provenance'>
}) => (
  <span className={styles.provenance}>
    Published from <StrangersLink address={repository ?? issuer} />
    {commit && (
      <>
        {' at '}
        <code title={commit}>{commit.slice(0, 10)}</code>
      </>
    )}
    {ref && (
      <>
        {' ('}
        <Bdi>{ref}</Bdi>
        {')'}
      </>
    )}
    {run && (
      <>
        {', '}
        <StrangersLink address={run}>run</StrangersLink>
      </>
    )}
  </span>
)
