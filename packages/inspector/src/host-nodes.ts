/** Names of the host's own nodes, of the release that the facts about the host are from. */
export { BUILT_IN_NODE_NAMES } from './host/make-facts.ts'
