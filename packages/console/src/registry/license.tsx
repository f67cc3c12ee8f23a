import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { Button } from '../ui/button.tsx'
import { Code } from '../ui/code.tsx'
import { fileQuery } from '../ui/findings.tsx'
import { Show, Stack } from '../ui/panels.tsx'
import { t } from '../words/translate.ts'
import { findLicenseFile } from './archive-files.ts'
import type { Version } from './queries.ts'

interface LicenseProps {
  version: Version
  files: readonly { path: string }[]
  license?: string | undefined
}

/** License as the archive has it; its text is read when it is opened. */
export const License = ({ version, files, license }: LicenseProps) => {
  const [isOpen, setIsOpen] = useState(false)
  const path = findLicenseFile(files, license)
  if (path === undefined) return null
  return (
    <Stack>
      <div>
        <Button variant="quiet" aria-expanded={isOpen} onPress={() => setIsOpen(!isOpen)}>
          {isOpen ? t('Hide the license') : t('Read the license')}
        </Button>
      </div>
      {isOpen && <Text version={version} path={path} />}
    </Stack>
  )
}

const Text = ({ version, path }: { version: Version; path: string }) => (
  <Show query={useQuery(fileQuery(version.node_id, version.version, path))}>
    {({ text }) => <Code text={text} label={path} />}
  </Show>
)
