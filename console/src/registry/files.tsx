import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'

import { Code } from '../ui/code.tsx'
import { SearchField } from '../ui/fields.tsx'
import { fileQuery } from '../ui/findings.tsx'
import { Link } from '../ui/link.tsx'
import { EndlessList } from '../ui/list.tsx'
import { Row, Show, Stack } from '../ui/panels.tsx'
import { Bdi, Bytes } from '../ui/values.tsx'
import { counted } from '../words/text.ts'
import { filesQuery } from './queries.ts'
import styles from './registry.module.css'

const route = getRouteApi('/registry/$node/$version')

/** The files of a version, or the one that the address names. */
export const Files = () => {
  const { file } = route.useSearch()
  return file === undefined ? <FileList /> : <File path={file} />
}

const FileList = () => {
  const { node, version } = route.useParams()
  const query = useQuery(filesQuery(node, version))
  const navigate = route.useNavigate()
  const [text, setText] = useState('')
  return (
    <Show query={query}>
      {({ files }) => {
        const shown = files.filter(({ path }) => path.toLowerCase().includes(text.toLowerCase()))
        return (
          <Stack>
            <SearchField
              label={`Search ${counted(files.length, 'file')}`}
              value={text}
              onChange={(next = '') => setText(next)}
            />
            <EndlessList
              key={text}
              label="Files"
              rows={shown}
              keyOf={({ path }) => path}
              height={36}
              onOpen={({ path }) => void navigate({ search: { tab: 'files', file: path } })}
            >
              {({ path, bytes }) => (
                <div className={`apart ${styles.line}`}>
                  <Link to="." search={{ tab: 'files', file: path }} className="cut">
                    <Bdi>{path}</Bdi>
                  </Link>
                  <Bytes count={bytes} />
                </div>
              )}
            </EndlessList>
          </Stack>
        )
      }}
    </Show>
  )
}

const File = ({ path }: { path: string }) => {
  const { node, version } = route.useParams()
  const query = useQuery(fileQuery(node, version, path))
  return (
    <Stack>
      <Row>
        <Link to="." search={{ tab: 'files' }}>
          All files
        </Link>
        <Bdi>{path}</Bdi>
      </Row>
      <Show query={query}>{({ text }) => <Code text={text} label={path} />}</Show>
    </Stack>
  )
}
