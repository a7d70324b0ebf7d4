import type { PluginType, Scorer } from '../../../src/plugins/index.ts'

/** Rates 1 the endpoints whose label `zone` is the parameter `zone`, 0 the others. */
const create: PluginType['create'] = ({ name, parameters }) => {
  const { zone } = (parameters ?? {}) as { readonly zone?: unknown }
  if (typeof zone !== 'string') throw new Error('`zone` is required')
  const scorer: Scorer = {
    typedName: { type: 'same-zone-scorer', name },
    category: 'affinity',
    score: (_request, candidates, out) => {
      candidates.forEach(({ labels }, i) => { out[i] = labels.get('zone') === zone ? 1 : 0 })
    },
  }
  return scorer
}

export const pluginTypes: readonly PluginType[] = [{ type: 'same-zone-scorer', kinds: ['scorer'], stability: 'beta', create }]
