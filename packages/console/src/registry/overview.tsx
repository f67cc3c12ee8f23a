import { useQuery } from '@tanstack/react-query'
import { Suspense } from 'react'

import { fileQuery } from '../ui/findings.tsx'
import { Empty, Show, Stack } from '../ui/panels.tsx'
import { t } from '../words/translate.ts'
import { findTopFile, isReadme } from './archive-files.ts'
import { License } from './license.tsx'
import { Markdown } from './parts.tsx'
import { filesQuery, type Version } from './queries.ts'

/** Readme of a version's archive, and its license. */
export const Overview = ({ version, license }: { version: Version; license?: string }) => {
  const query = useQuery(filesQuery(version.node_id, version.version))
  return (
    <Show query={query}>
      {({ files }) => {
        const readme = findTopFile(files, isReadme)
        return (
          <Stack>
            {readme ? (
              <Readme version={version} path={readme} />
            ) : (
              <Empty>
                {t('The archive of {version} has no README.', { version: version.version })}
              </Empty>
            )}
            <License version={version} files={files} license={license} />
          </Stack>
        )
      }}
    </Show>
  )
}

const Readme = ({ version, path }: { version: Version; path: string }) => (
  <Show query={useQuery(fileQuery(version.node_id, version.version, path))}>
    {({ text }) =>
      /\.(md|markdown)$/i.test(path) ? (
        <Suspense>
          <Markdown text={text} />
        </Suspense>
      ) : (
        <pre>{text}</pre>
      )
    }
  </Show>
)
