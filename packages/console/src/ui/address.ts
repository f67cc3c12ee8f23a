import { useNavigate } from '@tanstack/react-router'
import { useCallback } from 'react'

type Changes = Readonly<Record<string, string | string[] | undefined>>

/** Changes search parameters of the page that is seen: undefined takes one away, others stay, and nothing scrolls. */
export const useChangeSearch = () => {
  const navigate = useNavigate()
  return useCallback(
    (changes: Changes, { replace = true } = {}): void =>
      void navigate({
        to: '.',
        search: (old: object) => ({ ...old, ...changes }),
        replace,
        resetScroll: false,
      }),
    [navigate],
  )
}
