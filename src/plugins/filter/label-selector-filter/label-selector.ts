import { list, object, ParameterError, text, textMap, type Decoded } from '../../../core/parameters.ts'

/** The parameters of a Kubernetes label selector. */
export const LABEL_SELECTOR_FIELDS = {
  matchLabels: textMap,
  matchExpressions: list(object({ key: text(''), operator: text(''), values: list(text('')) })),
}

export type LabelSelectorParameters = Decoded<typeof LABEL_SELECTOR_FIELDS>

export type LabelTest = (labels: ReadonlyMap<string, string>) => boolean

/** All terms must hold; no terms hold always. Throws a ParameterError on a term that makes no sense. (Kubernetes: label selectors) */
export const labelTest = ({ matchLabels, matchExpressions }: LabelSelectorParameters): LabelTest => {
  const tests: LabelTest[] = [...matchLabels].map(([key, value]) => (labels) => labels.get(key) === value)
  matchExpressions.forEach((expression, index) => tests.push(expressionTest(expression, ['matchExpressions', String(index)])))
  return (labels) => tests.every((test) => test(labels))
}

type Expression = LabelSelectorParameters['matchExpressions'][number]

const expressionTest = ({ key, operator, values }: Expression, path: readonly string[]): LabelTest => {
  if (key === '') throw new ParameterError('a match expression needs a key', [...path, 'key'])
  const wanted = new Set(values)
  switch (operator) {
    case 'In':
    case 'NotIn': {
      if (values.length === 0) throw new ParameterError(`values: for '${operator}' operator, values set can't be empty`, [...path, 'values'])
      const isIn = (labels: ReadonlyMap<string, string>): boolean => wanted.has(labels.get(key) ?? '') && labels.has(key)
      return operator === 'In' ? isIn : (labels) => !isIn(labels)
    }
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0) throw new ParameterError(`values: values set must be empty for '${operator}'`, [...path, 'values'])
      return (labels) => labels.has(key) === (operator === 'Exists')
    default:
      throw new ParameterError(`"${operator}" is not a valid label selector operator: In, NotIn, Exists, DoesNotExist are`, [...path, 'operator'])
  }
}
