import type { Expression } from '../../python/ast.ts'

/** Values that stand where a command line has its program: `p` of `f"{p} --quiet"`, `"start " + p`, `f"cd x && {p}"`. */
export const commandHeads = (argument: Expression): Expression[] => {
  let before = ''
  return partsOfLine(argument).flatMap((part) => {
    const isHead = typeof part !== 'string' && BEFORE_PROGRAM.test(before)
    before = typeof part === 'string' ? (before + part).slice(-200) : `${before}x`
    return isHead ? [part] : []
  })
}

const BEFORE_PROGRAM =
  /(?:^|&&|[;|&\n])\s*(?:(?:start|sh|bash|python[\d.]*|nohup|sudo|cmd(?:\.exe)?\s+\/c)\s+)*(?:""\s+)?["']?(?:\.[\\/])?$/

const partsOfLine = (node: Expression): (string | Expression)[] => {
  if (node.kind === 'Constant') return [typeof node.value === 'string' ? node.value : node]
  if (node.kind === 'JoinedStr')
    return node.values.map((value) => (typeof value === 'string' ? value : value.value))
  if (node.kind === 'BinOp')
    return [node.left, ...node.rights.map(({ value }) => value)].flatMap((part) =>
      part.kind === 'BinOp' ? [part] : partsOfLine(part),
    )
  return [node]
}
