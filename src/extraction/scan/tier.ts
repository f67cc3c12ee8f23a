import type { Severity } from '../../domain/registry/finding.ts'

/**
 * The tier of a finding in a file that no host runs by itself: one lower among tests, documentation and examples;
 * undefined for what falls below info. `path` is relative to the pack.
 */
export const tierAt = (tier: Severity, path: string): Severity | undefined =>
  isAside(path) ? LOWER[tier] : tier

const LOWER: Record<Severity, Severity | undefined> = {
  high: 'medium',
  medium: 'info',
  info: undefined,
}

/** Folders and files that hosts do not run. */
const isAside = (path: string): boolean =>
  /(?:^|\/)(?:tests?|docs?|examples?)\//i.test(path) ||
  /(?:^|\/)(?:test_[^/]*\.py|conftest\.py)$/i.test(path)
