import type { AdmissionController, Denial, Detector, Services, TypedName } from '../../../core/contract.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import type { Request } from '../../../core/request.ts'
import { denial } from '../../../core/scheduling-error.ts'

// Not a type that a configuration can name: it stands in for flow control while that is off.
const NAME = 'legacy-admission'

/** Turns sheddable requests (priority below 0) away while the pool is full; admits all others. (llm-d: legacy admission) */
export class LegacyAdmission implements AdmissionController {
  readonly typedName: TypedName = { type: NAME, name: NAME }
  private readonly detector: Detector
  private services: Services | undefined = undefined

  constructor(detector: Detector) {
    this.detector = detector
  }

  setup(services: Services): void {
    this.services = services
  }

  admission(request: Request, candidates: readonly Endpoint[]): Denial | undefined {
    if (request.priority >= 0) return undefined
    if (this.services === undefined) throw new Error(`${NAME}: setup() was not called`)
    if (this.detector.saturation(candidates, this.services.now()) < 1) return undefined
    return denial('ResourceExhausted', 'system saturated, sheddable request dropped')
  }
}
