# frozen_string_literal: true

# The Ruby client of Mintmark, an identity service in one process: see ../README.md. Tests also require "mintmark/testing".
module Mintmark
end

require_relative "mintmark/client"
require_relative "mintmark/provider"
