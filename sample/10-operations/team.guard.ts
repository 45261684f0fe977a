import { timingSafeEqual } from 'node:crypto';
import { Injectable, UnauthorizedException, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { userOf, type TeamRequest } from './team-user.js';

interface TeamResponse {
  header(name: string, value: string): unknown;
}

/** Asks for a name and the password of the team, as browsers do for basic authentication. */
@Injectable()
export class TeamGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const http = context.switchToHttp();
    const { password } = userOf(http.getRequest<TeamRequest>());
    if (isPassword(password)) return true;
    http.getResponse<TeamResponse>().header('www-authenticate', 'Basic realm="team"');
    throw new UnauthorizedException();
  }
}

function isPassword(given: string): boolean {
  const [expected, actual] = [process.env.TEAM_PASSWORD ?? 'team', given].map((text) => Buffer.from(text));
  return expected!.length === actual!.length && timingSafeEqual(expected!, actual!);
}
