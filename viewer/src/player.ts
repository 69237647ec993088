// Moves the time while playing.
import { type State } from "./state";

export const SPEEDS = [1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10]; // simulated seconds per second

export class Player {
  playing = false;
  speed: number;
  since = 0; // the time at the drawing before, ns
  private last = 0;
  constructor(private readonly state: State, private readonly told: () => void) {
    // The whole run in about 20 s, but never faster than life.
    this.speed = state.about.live ? 0.01 : SPEEDS.filter((speed) => speed <= 1 && speed <= state.end / 20e9 * 3).at(-1) ?? SPEEDS[0]!;
  }
  play(speed?: number): void {
    if (speed !== undefined && speed > 0) this.speed = speed;
    if (this.state.time >= this.state.end) this.state.seek(this.state.begin);
    if (!this.playing) {
      this.playing = true;
      this.last = performance.now();
      this.since = this.state.time;
      requestAnimationFrame(this.tick);
    }
    this.told();
  }
  pause(): void {
    this.playing = false;
    this.since = this.state.time;
    this.told();
  }
  private readonly tick = (now: number): void => {
    if (!this.playing) return;
    const step = Math.min(100, Math.max(0, now - this.last)) * 1e6 * this.speed;
    this.last = Math.max(now, this.last);
    this.since = this.state.time;
    this.state.seek(this.state.time + step);
    if (this.state.time >= this.state.end) this.pause();
    else requestAnimationFrame(this.tick);
  };
}
