mod properties;
mod session;
