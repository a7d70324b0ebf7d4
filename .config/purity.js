// What the pure set may not name. The engine must give the same answer tomorrow, on another machine and in a browser,
// so nothing in it may read a clock, chance, the environment or a locale, wait, or use arithmetic that differs
// between V8 versions (measured between Node.js 20 and 24: Math.pow in about 10 % of typical arguments).

export const pureFolders = [
  'machines', 'src/core', 'src/scheduling', 'src/plugins', 'src/aibrix', 'src/engine', 'src/journal', 'src/replay', 'src/wire',
]

const bannedGlobals = {
  'a clock is an input: take the instant as an argument': ['Date', 'performance', 'Temporal'],
  'timers are effects: return `wake at`': [
    'setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'clearInterval', 'clearImmediate',
    'requestAnimationFrame', 'cancelAnimationFrame', 'requestIdleCallback', 'scheduler',
  ],
  'a turn never waits: return effects': [
    'Promise', 'queueMicrotask', 'AbortController', 'AbortSignal', 'EventTarget', 'MessageChannel', 'BroadcastChannel', 'Worker',
    'SharedArrayBuffer', 'Atomics',
  ],
  'the pure set prints nothing: return what is to be said': ['console', 'alert'],
  'the environment is resolved before the engine starts: take the value from the configuration': [
    'process', 'Buffer', 'require', 'module', '__dirname', '__filename', 'navigator', 'window', 'self', 'document', 'location', 'localStorage',
    'sessionStorage', 'indexedDB',
  ],
  'effects belong to adapters': ['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest'],
  'use the named random streams of core/random, or core/hash': ['crypto'],
  'locales differ between machines: compare by code unit': ['Intl'],
  'garbage collection is not an input': ['WeakRef', 'FinalizationRegistry'],
  'every ban of this file could be evaded through it': ['globalThis', 'global', 'eval', 'Function', 'Reflect', 'Proxy'],
}

const bannedMath = [
  'pow', 'exp', 'expm1', 'log', 'log2', 'log10', 'log1p', 'sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'atan2',
  'sinh', 'cosh', 'tanh', 'asinh', 'acosh', 'atanh', 'hypot', 'cbrt',
]

const bannedMethods = [
  'localeCompare', 'toLocaleString', 'toLocaleUpperCase', 'toLocaleLowerCase', 'toLocaleDateString', 'toLocaleTimeString',
]

const wait = 'a turn never waits: no promise and no async code in the pure set'
const power = '`**` takes a whole-number literal as its exponent here: other powers differ between V8 versions; use core/numeric'
const wholeMath = 'name the function of Math where it is called, so that the ban of the others can be checked'

export const purityRules = {
  'no-restricted-globals': [
    'error',
    ...Object.entries(bannedGlobals).flatMap(([message, names]) => names.map((name) => ({ name, message }))),
  ],
  'no-restricted-properties': [
    'error',
    { object: 'Math', property: 'random', message: 'chance is an input: use the named random streams of core/random' },
    ...bannedMath.map((property) => ({ object: 'Math', property, message: 'its result differs between V8 versions: use core/numeric' })),
    ...bannedMethods.map((property) => ({ property, message: 'locales differ between machines: use core/order' })),
    { object: 'Error', property: 'captureStackTrace', message: 'stacks differ between machines' },
  ],
}

export const puritySyntax = [
  { selector: ':function[async=true]', message: wait },
  { selector: 'AwaitExpression', message: wait },
  { selector: 'ForOfStatement[await=true]', message: wait },
  { selector: 'ImportExpression', message: wait },
  { selector: 'MetaProperty[meta.name="import"]', message: 'the pure set does not know where it lies' },
  { selector: 'BinaryExpression[operator="**"]:not([right.type="Literal"][right.raw=/^[0-9_]+n?$/])', message: power },
  { selector: 'AssignmentExpression[operator="**="]:not([right.type="Literal"][right.raw=/^[0-9_]+n?$/])', message: power },
  { selector: ':not(MemberExpression) > Identifier[name="Math"]', message: wholeMath },
  { selector: 'MemberExpression[computed=true] > Identifier.object[name="Math"]', message: wholeMath },
  { selector: 'MemberExpression[computed=true] > Identifier.property[name="Math"]', message: wholeMath },
  { selector: 'ImportDeclaration[source.value=/^node:/]', message: 'the pure set also runs in a browser: no node: module' },
]
