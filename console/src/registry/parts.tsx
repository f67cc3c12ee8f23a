import { useState } from 'react'

import type { Schema } from '../api/client.ts'
import { Button } from '../ui/button.tsx'
import { StrangersLink } from '../ui/link.tsx'
import { Row } from '../ui/page.tsx'
import { Fact } from '../ui/panels.tsx'
import { Badge, Bdi } from '../ui/values.tsx'
import type { Version } from './queries.ts'
import styles from './registry.module.css'

const LINES = 4
const SHORT = LINES * 60

/** A stranger's text with its line ends; a long one opens at a press. */
export const LongText = ({ text }: { text: string }) => {
  const [isOpen, setIsOpen] = useState(false)
  const isLong = text.length > SHORT || text.split('\n', LINES + 1).length > LINES
  return (
    <div className={styles.long}>
      <p className={isLong && !isOpen ? 'clamp' : ''}>
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

type Supported = Pick<Version, 'tags' | 'tags_admin' | 'supported_os' | 'supported_accelerators'> &
  Partial<Pick<Version, 'supported_host_version' | 'supported_host_frontend_version'>>

/** Where a node or version says that it runs, and its tags. */
export const Support = ({ of }: { of: Supported }) => {
  const facts = {
    Tags: [...of.tags, ...of.tags_admin],
    Systems: of.supported_os,
    Accelerators: of.supported_accelerators,
    Host: [of.supported_host_version ?? ''].filter(Boolean),
    Frontend: [of.supported_host_frontend_version ?? ''].filter(Boolean),
  }
  return Object.entries(facts).map(
    ([name, words]) =>
      words.length > 0 && (
        <Fact key={name} name={name}>
          <Row>
            {[...new Set(words)].map((word) => (
              <Badge key={word}>
                <Bdi>{word}</Bdi>
              </Badge>
            ))}
          </Row>
        </Fact>
      ),
  )
}

/** Where a version was published from, as its CI job has proved. */
export const Provenance = ({ provenance: from }: { provenance: Schema<'Provenance'> }) => (
  <span>
    Published from <StrangersLink address={from.repository ?? from.issuer} />{' '}
    {from.commit && <Bdi>{`at ${from.commit.slice(0, 10)} `}</Bdi>}
    {from.ref && <Bdi>{`(${from.ref}) `}</Bdi>}
    {from.run_url && <StrangersLink address={from.run_url}>run</StrangersLink>}
  </span>
)
