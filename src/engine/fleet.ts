import type { Interpreter } from '../../machines/interpreter/interpreter.ts'
import { Endpoint } from '../core/endpoint.ts'
import type { EndpointDescription } from '../core/endpoint.ts'
import { byId } from '../core/order.ts'
import type { EndpointEvent } from './endpoint-actor.ts'
import { EndpointActor } from './endpoint-actor.ts'

const NOBODY: readonly Endpoint[] = []

/** The endpoints in the engine, by id and by slot, and the lists that follow from the states of their machines. */
export class Fleet {
  private readonly byName = new Map<string, EndpointActor>()
  private readonly bySlot: (EndpointActor | undefined)[] = []
  private readonly byLife = new Map<number, EndpointActor>()
  private readonly machine: Interpreter<EndpointActor, EndpointEvent>
  private readyNow: readonly Endpoint[] | undefined = undefined
  private reachableNow: readonly Endpoint[] | undefined = undefined
  private presentNow: readonly Endpoint[] | undefined = undefined
  /** Lives seen so far. */
  lives = 0

  constructor(machine: Interpreter<EndpointActor, EndpointEvent>) {
    this.machine = machine
  }

  get(id: string): EndpointActor | undefined {
    return this.byName.get(id)
  }

  atSlot(slot: number): EndpointActor | undefined {
    return this.bySlot[slot]
  }

  ofLife(life: number): EndpointActor | undefined {
    return this.byLife.get(life)
  }

  /** All actors, by id. */
  actors(): EndpointActor[] {
    return [...this.byName.values()].sort((a, b) => byId(a.endpoint, b.endpoint))
  }

  /** Adds an endpoint in a new life, in the lowest free slot. */
  add(description: EndpointDescription): EndpointActor {
    let slot = this.bySlot.indexOf(undefined)
    if (slot < 0) slot = this.bySlot.length
    this.lives += 1
    const actor = new EndpointActor(new Endpoint(description, slot, this.lives))
    this.put(actor)
    this.machine.start(actor)
    return actor
  }

  /** Puts back an actor from a saved state. */
  put(actor: EndpointActor): void {
    const { endpoint } = actor
    while (this.bySlot.length <= endpoint.slot) this.bySlot.push(undefined)
    this.bySlot[endpoint.slot] = actor
    this.byName.set(endpoint.id, actor)
    this.byLife.set(endpoint.life, actor)
    this.changed()
  }

  remove(actor: EndpointActor): void {
    this.bySlot[actor.endpoint.slot] = undefined
    while (this.bySlot.length > 0 && this.bySlot.at(-1) === undefined) this.bySlot.pop()
    this.byName.delete(actor.endpoint.id)
    this.byLife.delete(actor.endpoint.life)
    this.machine.release(actor)
    this.changed()
  }

  /** To be called when a machine's presence or reachability changed. */
  changed(): void {
    this.readyNow = undefined
    this.reachableNow = undefined
    this.presentNow = undefined
  }

  /** Ready and reachable endpoints, by id; all ready ones when none is reachable. The same array until something changes. */
  candidates(): readonly Endpoint[] {
    this.reachableNow ??= this.list((actor) => actor.ready && !actor.unreachable)
    return this.reachableNow.length > 0 ? this.reachableNow : this.ready()
  }

  ready(): readonly Endpoint[] {
    this.readyNow ??= this.list((actor) => actor.ready)
    return this.readyNow
  }

  /** Ready or draining. */
  present(): readonly Endpoint[] {
    this.presentNow ??= this.list(() => true)
    return this.presentNow
  }

  private list(wanted: (actor: EndpointActor) => boolean): readonly Endpoint[] {
    const found = this.actors().filter(wanted).map((actor) => actor.endpoint)
    return found.length === 0 ? NOBODY : found
  }
}
