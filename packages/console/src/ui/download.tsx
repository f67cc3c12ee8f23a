import { useMutation } from '@tanstack/react-query'
import { Download } from 'lucide-react'

import { report } from './ask.tsx'
import { Button } from './button.tsx'

interface DownloadButtonProps {
  label: string
  /** Name of the file. */
  name: string
  type: 'application/json' | 'application/jsonl' | 'text/csv'
  /** Reads or makes its text at the press. */
  read(): Promise<string> | string
}

/** A button that saves a text as a file; a toast reports a rejection. */
export const DownloadButton = ({ label, name, type, read }: DownloadButtonProps) => {
  const saving = useMutation({
    mutationFn: async () => {
      const href = URL.createObjectURL(new Blob([await read()], { type }))
      Object.assign(document.createElement('a'), { href, download: name }).click()
      URL.revokeObjectURL(href)
    },
    onError: report,
  })
  return (
    <Button onPress={() => saving.mutate()} isPending={saving.isPending}>
      <Download aria-hidden />
      {label}
    </Button>
  )
}
