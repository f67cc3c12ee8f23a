import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'

import { TextField } from '../ui/fields.tsx'
import { fileQuery } from '../ui/findings.tsx'
import { Link } from '../ui/link.tsx'
import { EndlessList } from '../ui/list.tsx'
import { Stack } from '../ui/page.tsx'
import { Show } from '../ui/panels.tsx'
import { Bdi } from '../ui/text.tsx'
import { Bytes } from '../ui/values.tsx'
import { counted } from '../words/text.ts'
import { CodeLines } from './code-lines.tsx'
import { filesQuery } from './queries.ts'
import type { Version } from './queries.ts'
import styles from './registry.module.css'

const route = getRouteApi('/registry/$node/$version')

/** The files of a version, and the one that the address names. */
export const Files = ({ version }: { version: Version }) => {
  const { file } = route.useSearch()
  return file === undefined ? (
    <FileList version={version} />
  ) : (
    <File version={version} path={file} />
  )
}

const FileList = ({ version: { node_id: node, version } }: { version: Version }) => {
  const query = useQuery(filesQuery(node, version))
  const navigate = route.useNavigate()
  const [text, setText] = useState('')
  return (
    <Show query={query}>
      {({ files }) => {
        const shown = files.filter(({ path }) => path.toLowerCase().includes(text.toLowerCase()))
        return (
          <Stack>
            <TextField
              label="Search files"
              placeholder="A part of a path"
              isLabelHidden
              isSearch
              type="search"
              value={text}
              onChange={setText}
            />
            <p className={styles.soft} role="status">
              {counted(shown.length, 'file')}
            </p>
            <EndlessList
              label="Files"
              rows={shown}
              keyOf={({ path }) => path}
              height={36}
              onOpen={({ path }) => void navigate({ search: { tab: 'files', file: path } })}
            >
              {({ path, bytes }) => (
                <div className={styles.file}>
                  <Link
                    to="/registry/$node/$version"
                    params={{ node, version }}
                    search={{ tab: 'files', file: path }}
                  >
                    <Bdi>{path}</Bdi>
                  </Link>
                  <span className={styles.soft}>
                    <Bytes count={bytes} />
                  </span>
                </div>
              )}
            </EndlessList>
          </Stack>
        )
      }}
    </Show>
  )
}

const File = ({
  version: { node_id: node, version },
  path,
}: {
  version: Version
  path: string
}) => {
  const { line: given = '' } = route.useSearch()
  const query = useQuery(fileQuery(node, version, path))
  const line = /^\d{1,7}$/.test(given) ? Number(given) : undefined
  return (
    <Stack>
      <p className={styles.line}>
        <Link to="/registry/$node/$version" params={{ node, version }} search={{ tab: 'files' }}>
          All files
        </Link>
        <Bdi>{path}</Bdi>
      </p>
      <Show query={query}>
        {({ text }) => (
          <div
            ref={(box) => {
              if (line !== undefined) scrollTo(box, line)
            }}
          >
            <CodeLines text={text} marked={line} label={path} />
          </div>
        )}
      </Show>
    </Stack>
  )
}

const scrollTo = (box: HTMLDivElement | null, line: number): void => {
  if (!box) return
  const top = box.getBoundingClientRect().top + window.scrollY + line * 16
  window.scrollTo({ top: top - window.innerHeight / 2 })
}
