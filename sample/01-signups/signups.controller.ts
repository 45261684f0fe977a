import { BadRequestException, Body, ConflictException, Controller, Post } from '@nestjs/common';
import { InvalidSignupError, parseSignup, type Signup } from './signup.js';
import { SignupsService } from './signups.service.js';

@Controller('signups')
export class SignupsController {
  constructor(private readonly signups: SignupsService) {}

  @Post()
  async signUp(@Body() body: unknown) {
    const signup = valid(body);
    const job = await this.signups.signUp(signup);
    if (!job) throw new ConflictException(`${signup.email} has already signed up`);
    return { ...signup, welcomeMail: `/jobs/${job.id}` };
  }
}

function valid(body: unknown): Signup {
  try {
    return parseSignup(body);
  } catch (error) {
    if (error instanceof InvalidSignupError) throw new BadRequestException(error.problems);
    throw error;
  }
}
