// The house's own lint rules: how files and folders are called, and how long a file should be.
import { basename, relative, sep } from 'node:path'
import { builtinRules } from 'eslint/use-at-your-own-risk'

// Names that say nothing of what is inside.
const emptyWords = new Set(['util', 'utils', 'helper', 'helpers', 'common', 'manager', 'base', 'impl', 'misc', 'shared'])
const kebabCase = /^[a-z0-9]+(-[a-z0-9]+)*(\.(long|test|bench|config|build|d))*\.(ts|tsx|js|mjs)$/
const kebabFolder = /^[a-z0-9]+(-[a-z0-9]+)*$/

/** What is wrong with a path (relative to the project, with `/`), or undefined. */
function pathFault(path) {
  const names = path.split('/').filter((name) => !name.startsWith('.'))
  const file = names.at(-1) ?? ''
  if (!kebabCase.test(file)) return `file name \`${file}\` is not kebab-case`
  const folder = names.slice(0, -1).find((name) => !kebabFolder.test(name))
  if (folder !== undefined) return `folder name \`${folder}\` is not kebab-case`
  const isJournalBase = names.includes('journal') && !names.slice(0, -1).includes('base')
  const empty = names
    .map((name) => name.replace(/\..*$/, ''))
    .flatMap((name) => name.split('-'))
    .find((word) => emptyWords.has(word) && !(word === 'base' && isJournalBase))
  return empty === undefined ? undefined : `\`${empty}\` in \`${path}\` says nothing of what is inside: name the idea`
}

const pathRule = {
  meta: { type: 'suggestion', schema: [], messages: { fault: '{{fault}}' } },
  create: (context) => ({
    Program(node) {
      const path = relative(context.cwd, context.filename).split(sep).join('/')
      const fault = path.startsWith('..') || basename(path).startsWith('<') ? undefined : pathFault(path)
      if (fault !== undefined) context.report({ node, messageId: 'fault', data: { fault } })
    },
  }),
}

export const house = {
  rules: {
    path: pathRule,
    // max-lines a second time, so that a length worth a thought warns before the length that fails.
    'long-file': builtinRules.get('max-lines'),
  },
}
